-- The end: drops the helpers of 00_roles.sql.

drop procedure filestore.pin_plan(regproc);
drop procedure filestore.publish(regproc, text, text[]);
drop procedure filestore.grant_execute(regproc, text[]);
