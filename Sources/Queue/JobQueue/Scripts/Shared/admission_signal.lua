-- Wakes the worker that admits jobs when batches must be fed, because no ingress stream shows that. The worker waits in XREAD
-- on the ingress streams and on stream bell, of which only the last entry matters.
local function signal_admission() call('XADD', P .. 'bell', 'MAXLEN', '1', '*', 'ring', '1') end
