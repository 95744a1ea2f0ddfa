[(invocation_expression) (object_creation_expression)] @call
[(member_access_expression) (qualified_name)] @member
(base_list (identifier) @base)
(base_list (generic_name (identifier) @base))
(attribute name: (identifier) @decorator)
(variable_declaration type: (identifier) @type)
(parameter type: (identifier) @type)
(property_declaration type: (identifier) @type)
(method_declaration returns: (identifier) @type)
(type_argument_list (identifier) @type)
(generic_name (identifier) @type)
(nullable_type (identifier) @type)
(array_type (identifier) @type)
(cast_expression type: (identifier) @type)
(typeof_expression (identifier) @type)
(declaration_pattern type: (identifier) @type)
(argument (identifier) @name)
(return_statement (identifier) @name)
(variable_declarator) @target
(parameter name: (identifier)) @target
(property_declaration) @target
(foreach_statement) @target
(declaration_pattern) @target
(implicit_parameter) @bound
(method_declaration returns: [(identifier) (generic_name) (nullable_type)] @return)
[(using_directive) (namespace_declaration) (file_scoped_namespace_declaration)] @import
(tuple_pattern name: (identifier) @bound)
(declaration_expression name: (identifier) @bound)
(catch_declaration name: (identifier) @bound)
[(block) (lambda_expression) (anonymous_method_expression) (for_statement) (foreach_statement) (catch_clause) (using_statement) (switch_section)] @scope
