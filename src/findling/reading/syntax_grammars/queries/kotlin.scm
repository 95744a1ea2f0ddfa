(call_expression) @call
(navigation_expression) @member
(delegation_specifier (user_type (identifier) @base))
(delegation_specifier (constructor_invocation (user_type (identifier) @base)))
(annotation (user_type (identifier) @decorator))
(user_type (identifier) @type)
(value_argument (identifier) @name)
(return_expression (identifier) @name)
(property_declaration (variable_declaration)) @target
(parameter) @target
(class_parameter) @target
(function_declaration (function_value_parameters) . [(user_type) (nullable_type)] @return)
[(import) (package_header)] @import
(variable_declaration (identifier) @bound)
(catch_block . (identifier) @bound)
(callable_reference (identifier) @reference)
[(block) (lambda_literal) (for_statement) (catch_block) (when_expression)] @scope
