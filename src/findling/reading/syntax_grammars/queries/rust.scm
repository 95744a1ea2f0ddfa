(call_expression) @call
[(field_expression) (scoped_identifier) (scoped_type_identifier)] @member
(trait_item bounds: (trait_bounds (type_identifier) @base))
(type_identifier) @type
(arguments (identifier) @name)
(return_expression (identifier) @name)
(let_declaration value: (identifier) @name)
(binary_expression (identifier) @name)
(field_initializer value: (identifier) @name)
(reference_expression value: (identifier) @name)
(let_declaration pattern: (identifier)) @target
(parameter pattern: (identifier)) @target
(field_declaration) @target
(closure_parameters (identifier) @bound)
(for_expression pattern: (identifier) @bound)
(function_item return_type: (_) @return)
(function_signature_item return_type: (_) @return)
(use_declaration) @import
