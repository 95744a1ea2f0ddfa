(new_expression) @call
(argument_list (qualified_identifier) @member)
(base_class_clause (type_identifier) @base)
(base_class_clause (qualified_identifier name: (type_identifier) @base))
(base_class_clause (qualified_identifier name: (template_type name: (type_identifier) @base)))
(base_class_clause (template_type name: (type_identifier) @base))
(declaration declarator: (reference_declarator)) @target
(optional_parameter_declaration) @target
(for_range_loop declarator: (identifier) @bound)
(for_range_loop declarator: (reference_declarator (identifier) @bound))
(structured_binding_declarator (identifier) @bound)
[(lambda_expression) (for_range_loop) (catch_clause)] @scope
