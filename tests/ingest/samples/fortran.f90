module geometry
  implicit none
  integer, parameter :: limit = 10
  real :: scale

  type :: point
    real :: x
  end type point

  interface area
    module procedure area_circle
  end interface area

contains

  ! Area of a circle.
  function area_circle(r) result(a)
    real, intent(in) :: r
    real :: a
    a = r * r
  end function area_circle

  subroutine move(p, dx)
    type(point) :: p
    real :: dx
  end subroutine move

end module geometry

program main
  use geometry
  integer :: i
  i = 1
end program main
