extension Duration {
    /// Reads a time such as `500ms`, `30s`, `5m`, `24h` or `3d`; nil when it is written otherwise, or below zero.
    package init?(written text: String) {
        let number = text.prefix { $0.isNumber || $0 == "." }
        let units = [
            "ms": Duration.milliseconds(1), "s": .seconds(1), "m": .seconds(60),
            "h": .seconds(3600), "d": .seconds(86400),
        ]
        // A Duration holds 2^63 seconds; beyond a thousand years nobody means what is written.
        guard let count = Double(number), let unit = units[String(text.dropFirst(number.count))],
            count * (unit / .seconds(1)) < 1000 * 366 * 86400
        else { return nil }
        self = unit * count
    }
}
