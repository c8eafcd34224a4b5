-- Characters that the name of a photo must not contain: the first and last code points of each range of Unicode's Cc, Cf, Zl
-- and Zp above ASCII, except for the joiners U+200C and U+200D. Swift's `Unicode.Scalar.isControl` has the same rule,
-- and a test compares the two for every code point.
local CONTROLS = {0x80, 0x9F, 0xAD, 0xAD, 0x600, 0x605, 0x61C, 0x61C, 0x6DD, 0x6DD, 0x70F, 0x70F, 0x890, 0x891,
  0x8E2, 0x8E2, 0x180E, 0x180E, 0x200B, 0x200B, 0x200E, 0x200F, 0x2028, 0x202E, 0x2060, 0x2064, 0x2066, 0x206F,
  0xFEFF, 0xFEFF, 0xFFF9, 0xFFFB, 0x110BD, 0x110BD, 0x110CD, 0x110CD, 0x13430, 0x1343F, 0x1BCA0, 0x1BCA3,
  0x1D173, 0x1D17A, 0xE0001, 0xE0001, 0xE0020, 0xE007F}

-- Returns whether a UTF-8 text contains one of them, or an ASCII control character.
local function has_controls(text)
  if text:find('%c') then return true end
  for lead, rest in text:gmatch('([\194-\244])([\128-\191]+)') do
    local code = lead:byte() % (#rest == 1 and 32 or #rest == 2 and 16 or 8)
    for i = 1, #rest do code = code * 64 + rest:byte(i) - 128 end
    for i = 1, #CONTROLS, 2 do
      if code < CONTROLS[i] then break end
      if code <= CONTROLS[i + 1] then return true end
    end
  end
  return false
end
