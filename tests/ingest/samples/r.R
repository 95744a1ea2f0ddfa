library(methods)

MAX_SIZE <- 10

#' Adds numbers.
#'
#' @param a first
add <- function(a, b = 2) {
  local_value <- a
  inner <- function(x) x
  local_value + b
}

multiply = function(a, b) a * b

setClass("Person", representation(name = "character"))

setGeneric("greet", function(object) standardGeneric("greet"))

setMethod("greet", "Person", function(object) {
  cat(object@name)
})

Stack <- R6Class("Stack",
  public = list(
    push = function(x) {
      invisible(self)
    }
  )
)

assign_later <<- 5
