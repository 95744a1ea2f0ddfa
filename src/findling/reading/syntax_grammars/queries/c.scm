(call_expression) @call
(field_expression) @member
(type_identifier) @type
(argument_list (identifier) @name)
(initializer_pair value: (identifier) @name)
(initializer_list (identifier) @name)
(init_declarator value: (identifier) @name)
(assignment_expression right: (identifier) @name)
(return_statement (identifier) @name)
(binary_expression (identifier) @name)
(unary_expression (identifier) @name)
(conditional_expression (identifier) @name)
(pointer_expression (identifier) @name)
(cast_expression (identifier) @name)
(parenthesized_expression (identifier) @name)
(subscript_expression (identifier) @name)
(case_statement value: (identifier) @name)
(array_declarator size: (identifier) @name)
(parameter_declaration) @target
(declaration declarator: [(identifier) (pointer_declarator) (array_declarator)]) @target
(init_declarator) @target
(field_declaration) @target
(assignment_expression left: [(identifier) (field_expression)]) @target
(preproc_include) @import
[(compound_statement) (for_statement)] @scope
(function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @bound)))
