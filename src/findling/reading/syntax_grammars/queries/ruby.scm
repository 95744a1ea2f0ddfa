(call) @call
(scope_resolution) @member
(superclass [(constant) (scope_resolution)] @base)
(call method: (identifier) @_mixes arguments: (argument_list [(constant) (scope_resolution)] @base) (#any-of? @_mixes "include" "extend" "prepend"))
(constant) @type
(identifier) @name
(assignment left: (identifier)) @target
(operator_assignment left: (identifier) @bound)
(left_assignment_list (identifier) @bound)
[(method_parameters (identifier) @bound) (block_parameters (identifier) @bound) (lambda_parameters (identifier) @bound)]
(optional_parameter name: (identifier) @bound)
(keyword_parameter name: (identifier) @bound)
(splat_parameter name: (identifier) @bound)
(hash_splat_parameter name: (identifier) @bound)
(block_parameter name: (identifier) @bound)
(destructured_parameter (identifier) @bound)
(exception_variable (identifier) @bound)
(for pattern: (identifier) @bound)
[(block) (do_block) (lambda)] @scope
(call !receiver method: (identifier) @_loads (#any-of? @_loads "require" "require_relative" "load")) @import
