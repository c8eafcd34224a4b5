-- Tells workers at once what they would else hear with their next heartbeat.
local function tell_workers(...) call('XADD', P .. 'control', 'MAXLEN', '~', '1000', '*', ...) end
