(call_expression) @call
(navigation_expression) @member
(inheritance_specifier inherits_from: (user_type (type_identifier) @base))
(attribute (user_type (type_identifier) @decorator))
(user_type (type_identifier) @type)
(value_argument value: (simple_identifier) @name)
(control_transfer_statement result: (simple_identifier) @name)
(property_declaration) @target
(parameter) @target
(assignment target: (directly_assignable_expression (navigation_expression))) @target
(pattern bound_identifier: (simple_identifier) @bound)
(guard_statement bound_identifier: (simple_identifier) @bound)
(if_statement bound_identifier: (simple_identifier) @bound)
(lambda_parameter name: (simple_identifier) @bound)
(function_declaration name: [(user_type) (optional_type)] @return)
(import_declaration) @import
[(statements) (lambda_literal) (for_statement)] @scope
