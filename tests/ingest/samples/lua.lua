local M = {}
local H = {}

M.config = { delay = 100 }
local limit = 5

--- Set up the module.
---
---@param config table
function M.setup(config)
  local x = 1
  return x
end

-- Helper.
local function helper(a, b)
  return a + b
end

function M:method(name)
  return name
end

H.apply = function(x)
  return x
end

local fn = function() end

M.nested = {
  inner = function() end,
  plain = 1,
}

function global() end

return M
