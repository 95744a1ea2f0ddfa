module Geometry

export area

const TAU = 6.28
counter = 0

"""
    area(s)

Area of a shape.
"""
function area(s::Shape)::Float64
    local_value = 1
    return s.size
end

abstract type Shape end

struct Circle <: Shape
    radius::Float64
end

mutable struct Box{T}
    value::T
end

double(x) = 2x

macro twice(ex)
    return quote
        $ex
    end
end

function Base.show(io::IO, c::Circle)
    print(io, "c")
end

primitive type Small 8 end

end # module
