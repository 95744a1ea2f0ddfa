package cats.data

import scala.util.Try

/** A chain.
  *
  * More.
  */
sealed abstract class Chain[+A] extends Iterable[A] {
  val size: Int = 0
  var count = 1
  def head: Option[A] = None
  final def map[B](f: A => B): Chain[B] = {
    val local = 1
    def loop(x: Int): Int = x
    loop(local)
    this.asInstanceOf[Chain[B]]
  }
  type Elem = Int
}

object Chain extends ChainInstances {
  case object Nil extends Chain[Nothing]
  case class Wrap[A](seq: Seq[A]) extends Chain[A]

  def one[A](a: A): Chain[A] = Wrap(Seq(a))
  implicit val order: Order[Int] = ???
}

trait Functor[F[_]] {
  def fmap[A, B](fa: F[A])(f: A => B): F[B]
}

@deprecated("x", "1")
class Old(val x: Int)

enum Color {
  case Red, Green
}

package object syntax {
  val x = 1
}
