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
(tuple_pattern (identifier) @bound)
(tuple_struct_pattern type: (_) (identifier) @bound)
(slice_pattern (identifier) @bound)
(captured_pattern . (identifier) @bound)
(reference_pattern (identifier) @bound)
(ref_pattern (identifier) @bound)
(mut_pattern (identifier) @bound)
(field_pattern pattern: (identifier) @bound)
(field_pattern name: (shorthand_field_identifier) @bound)
(match_pattern . (identifier) @bound)
[(block) (match_arm) (closure_expression) (if_expression) (while_expression) (for_expression)] @scope
