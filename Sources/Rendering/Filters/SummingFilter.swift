/// A per-pixel filter whose result is a sum of what a channel brings itself and of what all three
/// bring together:
///
///     L = index(0, R) + index(1, G) + index(2, B)        out(c) = own(x) + shared(c, L)
///
/// Everything that is a function of luminance has this form. For 8-bit photos without a change of
/// primaries such a filter runs on tables of integers alone (``SumTables``).
protocol SummingFilter: PixelFilter {
    /// What a channel's linear light, 0 to 1, adds to L; L is 0 to 1.
    func index(_ channel: Int, _ light: Double) -> Double
    /// What a channel's linear light adds to its own result.
    func own(_ light: Double) -> Double
    /// What L adds to a channel's result.
    func shared(_ channel: Int, _ index: Double) -> Double
}
