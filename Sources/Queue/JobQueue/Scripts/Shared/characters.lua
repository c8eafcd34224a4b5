-- Returns whether a UTF-8 text contains a control character (Unicode's Cc: U+0000 to U+001F and U+007F to U+009F), which the name
-- of a photo must not. `AssetPath` has the same rule, and a test compares the two for every code point.
local function has_controls(text) return text:find('%c') ~= nil or text:find('\194[\128-\159]') ~= nil end
