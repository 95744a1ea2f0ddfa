open Printf

(** A shape. *)
type shape =
  | Circle of float
  | Square of float

type t = { name : string; mutable size : int }

exception Not_found_here of string

let limit = 10

(** Area of a shape.

    More. *)
let rec area ?(scale = 1.0) s =
  let local = 2.0 in
  match s with
  | Circle r -> r *. local
  | Square a -> a *. a

and perimeter s = 0.0

let add = fun a b -> a + b

module Stack = struct
  type 'a t = 'a list

  let push x s = x :: s
end

module type Comparable = sig
  type t

  val compare : t -> t -> int
end

module Make (C : Comparable) = struct
  let max a b = if C.compare a b > 0 then a else b
end

class counter init =
  object
    val mutable n = init
    method incr = n <- n + 1
  end

external length : string -> int = "caml_string_length"

let () = printf "x"
