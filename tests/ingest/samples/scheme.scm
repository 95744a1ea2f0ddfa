(define limit 10)

; Adds numbers.
(define (add a b)
  (define local 1)
  (+ a b))

(define double
  (lambda (x) (* 2 x)))

(define-syntax unless2
  (syntax-rules ()
    ((_ c b) (if c #f b))))

(define-record-type point
  (make-point x y)
  point?
  (x point-x))

(define ((curried a) b) a)

(let loop ((i 0)) i)
