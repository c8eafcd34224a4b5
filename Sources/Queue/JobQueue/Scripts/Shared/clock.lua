-- The server's time, read once per script: microseconds, milliseconds, and milliseconds as text.
local TIME = call('TIME')
local US = TIME[1] * 1000000 + TIME[2]
local MS = math.floor(US / 1000)
local NOW = int(MS)
