local limit = 10;
local add(a, b) = a + b;
{
  name: 'x',
  hidden:: 1,
  twice(x):: x * 2,
}
