(call !receiver method: (identifier) @_loads arguments: (argument_list . (string (string_content) @module)) @all (#any-of? @_loads "require" "require_relative" "load"))
