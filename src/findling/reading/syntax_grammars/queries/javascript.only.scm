(class_heritage [(identifier) (member_expression)] @base)
(formal_parameters (identifier) @bound)
(field_definition property: (property_identifier)) @target
