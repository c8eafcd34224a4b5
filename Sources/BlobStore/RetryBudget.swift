/// The tokens that a client may spend on repeating requests, so that a store in trouble gets no storm.
///
/// Repeats cost tokens and successes earn them: where one in six requests has to be repeated, the
/// budget shrinks. Numbers: AWS' standard retry mode, `token_bucket.rs` of smithy-rs 1.9.
struct RetryBudget: Sendable, Hashable {
    /// The most tokens, and as many as there are at first.
    static let tokensMax = 500
    /// The price of a repeat after an answer or a lost connection.
    static let retryCost = 5
    /// The price of a repeat after a silence.
    static let timeoutCost = 10
    /// The gain of a success.
    static let successGain = 1

    private(set) var tokens = tokensMax

    /// Whether a repeat is paid for; false spends nothing.
    mutating func pay(afterTimeout: Bool) -> Bool {
        let cost = afterTimeout ? Self.timeoutCost : Self.retryCost
        guard tokens >= cost else { return false }
        tokens -= cost
        return true
    }

    mutating func succeeded() {
        tokens = min(Self.tokensMax, tokens + Self.successGain)
    }
}
