[(function_call_expression) (member_call_expression) (nullsafe_member_call_expression) (scoped_call_expression) (object_creation_expression)] @call
[(member_access_expression) (class_constant_access_expression) (scoped_property_access_expression)] @member
(base_clause [(name) (qualified_name)] @base)
(class_interface_clause [(name) (qualified_name)] @base)
(use_declaration [(name) (qualified_name)] @base)
(attribute (name) @decorator)
(named_type (name) @type)
(binary_expression right: (name) @type)
(class_constant_access_expression . (name) @name)
(simple_parameter) @target
(property_promotion_parameter) @property
(property_element) @target
(assignment_expression left: [(variable_name) (member_access_expression)]) @target
(method_declaration return_type: (_) @return)
(function_definition return_type: (_) @return)
[(namespace_use_declaration) (namespace_definition)] @import
