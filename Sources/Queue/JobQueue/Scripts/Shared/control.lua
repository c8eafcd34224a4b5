-- Notifies workers at once; otherwise they would learn of it with their next heartbeat.
local function notify_workers(...) call('XADD', P .. 'control', 'MAXLEN', '~', '1000', '*', ...) end
