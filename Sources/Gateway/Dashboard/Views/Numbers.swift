/// Returns a number with thousands separators: `12,400`.
package func grouped(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var text = number < 0 ? "−" : ""
    for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index) % 3 == 0 { text += "," }
        text.append(digit)
    }
    return text
}

/// Returns a number of 10 or more without decimals, a smaller one with one decimal; `–` if it is not finite.
func short(_ value: Double) -> String {
    guard value.isFinite else { return "–" }
    if abs(value) >= 10 || value == value.rounded() { return whole(value).map(grouped) ?? "–" }
    let tenths = Int((abs(value) * 10).rounded())
    return (value < 0 && tenths > 0 ? "−" : "") + "\(tenths / 10).\(tenths % 10)"
}

/// Returns the nearest whole number; nil if it overflows an Int.
func whole(_ value: Double) -> Int? { Int(exactly: value.rounded()) }

/// Returns a part of a whole in percent, from 0 to 100; 0 if the whole is 0.
func portion(_ part: Int, of all: Int) -> Int {
    guard all > 0, part > 0 else { return 0 }
    return min(100, Int(Double(part) / Double(all) * 100))
}
