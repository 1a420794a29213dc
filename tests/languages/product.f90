! SPDX-License-Identifier: MIT
! product.f90 - multiply two matrices, which Fortran stores by columns, through iso_c_binding
module quoit
  use iso_c_binding
  implicit none
  integer(c_int8_t), parameter :: F64 = 1_c_int8_t
  type, bind(c) :: sqe
    integer(c_int64_t) :: word(8)
  end type
  type, bind(c) :: shape
    integer(c_int8_t) :: dtype = F64
    integer(c_int32_t) :: dim(4) = 1, stride(4) = 0
  end type
  interface
    integer(c_int) function quoit_open(params, s) bind(c)
      import; type(c_ptr) :: s; type(c_ptr), value :: params
    end function
    integer(c_int) function quoit_open_ring(s, params, q) bind(c)
      import; type(c_ptr) :: q; type(c_ptr), value :: s, params
    end function
    integer(c_int32_t) function quoit_create(q, of, flags) bind(c)
      import; type(c_ptr), value :: q; type(shape) :: of; integer(c_int), value :: flags
    end function
    integer(c_int32_t) function quoit_view(q, t, of, offset) bind(c)
      import; type(c_ptr), value :: q; integer(c_int32_t), value :: t; type(shape) :: of
      integer(c_int64_t), value :: offset
    end function
    type(sqe) function quoit_gemm(c, a, b, flags, alpha, beta) bind(c)
      import; integer(c_int32_t), value :: c, a, b; integer(c_int8_t), value :: flags
      real(c_double), value :: alpha, beta
    end function
    integer(c_int) function quoit_push(q, job) bind(c)
      import; type(c_ptr), value :: q; type(sqe), value :: job
    end function
    integer(c_int) function quoit_write(q, t, from, bytes) bind(c)
      import; type(c_ptr), value :: q; integer(c_int32_t), value :: t; real(c_double) :: from(*)
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function quoit_read(q, t, to, bytes) bind(c)
      import; type(c_ptr), value :: q; integer(c_int32_t), value :: t; real(c_double) :: to(*)
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function quoit_close(s, flags) bind(c)
      import; type(c_ptr), value :: s; integer(c_int), value :: flags
    end function
  end interface
end module

program product
  use quoit
  implicit none
  integer, parameter :: n = 60
  integer(c_size_t), parameter :: bytes = 8_c_size_t * n * n
  type(c_ptr) :: s, q
  type(shape) :: rows, columns
  integer(c_int32_t) :: t(3), v(3)
  real(c_double) :: a(n, n), b(n, n), c(n, n)
  integer :: i

  call random_number(a)
  call random_number(b)
  if (quoit_open(c_null_ptr, s) /= 0) stop 1
  if (quoit_open_ring(s, c_null_ptr, q) /= 0) stop 1
  rows%dim = [1, 1, n, n]
  columns%dim = [1, 1, n, n]
  columns%stride = [0, 0, 1, n]
  do i = 1, 3
    t(i) = quoit_create(q, rows, 0)
    v(i) = quoit_view(q, t(i), columns, 0_c_int64_t)
  end do
  if (quoit_write(q, t(1), a, bytes) /= 0) stop 2
  if (quoit_write(q, t(2), b, bytes) /= 0) stop 2
  if (quoit_push(q, quoit_gemm(v(3), v(1), v(2), 0_c_int8_t, 1d0, 0d0)) /= 0) stop 3
  if (quoit_read(q, t(3), c, bytes) /= 0) stop 4
  if (maxval(abs(c - matmul(a, b))) > 1d-10) stop 5
  if (quoit_close(s, 0) /= 0) stop 6
end program
