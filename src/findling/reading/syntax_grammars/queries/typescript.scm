(extends_clause value: [(identifier) (member_expression)] @base)
(implements_clause [(type_identifier) (nested_type_identifier)] @base)
(implements_clause (generic_type name: (_) @base))
(extends_type_clause type: [(type_identifier) (nested_type_identifier)] @base)
(extends_type_clause type: (generic_type name: (_) @base))
(nested_type_identifier) @member
[(type_identifier) (nested_type_identifier)] @type
(type_query [(identifier) (member_expression)] @type)
(required_parameter pattern: (identifier)) @target
(required_parameter (accessibility_modifier) pattern: (identifier)) @property
(optional_parameter pattern: (identifier)) @target
(public_field_definition name: (property_identifier)) @target
(property_signature name: (property_identifier)) @target
(as_expression (identifier) @name)
(satisfies_expression (identifier) @name)
(non_null_expression (identifier) @name)
(function_declaration return_type: (type_annotation) @return)
(function_signature return_type: (type_annotation) @return)
(method_definition return_type: (type_annotation) @return)
(method_signature return_type: (type_annotation) @return)
(abstract_method_signature return_type: (type_annotation) @return)
(variable_declarator value: (arrow_function return_type: (type_annotation) @return))
(public_field_definition value: (arrow_function return_type: (type_annotation) @return))
