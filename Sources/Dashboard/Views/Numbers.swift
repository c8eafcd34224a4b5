/// A number with its thousands apart: `12,400`.
package func grouped(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var text = number < 0 ? "−" : ""
    for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index) % 3 == 0 { text += "," }
        text.append(digit)
    }
    return text
}

/// A number that is 10 or more as a whole one, less with one digit behind the point; `–` for none.
func short(_ value: Double) -> String {
    guard value.isFinite else { return "–" }
    if abs(value) >= 10 || value == value.rounded() { return whole(value).map(grouped) ?? "–" }
    let tenths = Int((abs(value) * 10).rounded())
    return (value < 0 && tenths > 0 ? "−" : "") + "\(tenths / 10).\(tenths % 10)"
}

/// The nearest whole number; nil beyond what an Int holds.
func whole(_ value: Double) -> Int? { Int(exactly: value.rounded()) }

/// How many of a whole, in percent from 0 to 100; 0 of nothing.
func portion(_ part: Int, of all: Int) -> Int {
    guard all > 0, part > 0 else { return 0 }
    return min(100, Int(Double(part) / Double(all) * 100))
}
