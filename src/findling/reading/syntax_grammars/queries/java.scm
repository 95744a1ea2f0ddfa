[(method_invocation) (object_creation_expression)] @call
[(field_access) (scoped_type_identifier)] @member
(superclass [(type_identifier) (scoped_type_identifier)] @base)
(superclass (generic_type [(type_identifier) (scoped_type_identifier)] @base))
(super_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @base))
(super_interfaces (type_list (generic_type [(type_identifier) (scoped_type_identifier)] @base)))
(extends_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @base))
(extends_interfaces (type_list (generic_type [(type_identifier) (scoped_type_identifier)] @base)))
(marker_annotation name: (_) @decorator)
(annotation name: (_) @decorator)
(type_identifier) @type
(argument_list (identifier) @name)
(return_statement (identifier) @name)
(variable_declarator value: (identifier) @name)
(assignment_expression right: (identifier) @name)
(binary_expression (identifier) @name)
(unary_expression (identifier) @name)
(ternary_expression (identifier) @name)
(parenthesized_expression (identifier) @name)
(array_access (identifier) @name)
(array_initializer (identifier) @name)
(enhanced_for_statement value: (identifier) @name)
(element_value_pair value: (identifier) @name)
(annotation_argument_list (identifier) @name)
(variable_declarator) @target
(formal_parameter) @target
(enhanced_for_statement) @target
(resource name: (identifier)) @target
(catch_formal_parameter) @target
(instanceof_expression name: (identifier)) @target
(lambda_expression parameters: (identifier) @bound)
(inferred_parameters (identifier) @bound)
(method_declaration type: [(type_identifier) (scoped_type_identifier) (generic_type)] @return)
[(import_declaration) (package_declaration)] @import
(type_pattern (identifier) @bound)
(record_pattern_component (identifier) @bound)
(method_reference) @reference
[(block) (constructor_body) (lambda_expression) (for_statement) (enhanced_for_statement) (catch_clause) (try_with_resources_statement) (switch_rule) (switch_block_statement_group)] @scope
(object_creation_expression (class_body) @scope)
