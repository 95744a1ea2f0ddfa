(ns my.app.core
  (:require [clojure.string :as str]))

(def limit 10)

(defonce ^:private state (atom {}))

;; Adds numbers.
(defn add
  "Adds two numbers."
  [a b]
  (let [local 1]
    (+ a b local)))

(defn- helper [x] x)

(defmacro unless [test & body]
  `(if (not ~test) (do ~@body)))

(defprotocol Shape
  "A shape."
  (area [this]))

(defrecord Circle [radius]
  Shape
  (area [this] radius))

(deftype Box [value])

(defmulti render :kind)

(defmethod render :circle [c] c)

(deftest adds
  (is (= 3 (add 1 2))))
