#lang racket

(define limit 10)

;; Adds numbers.
(define (add a b)
  (define local 1)
  (define (inner x) x)
  (+ a b))

(define double (lambda (x) (* 2 x)))

(struct point (x y) #:transparent)

(define-syntax-rule (swap a b) (list b a))

(module inner racket
  (define x 1))

(define-values (p q) (values 1 2))
