/// The tokens that a client may spend on repeating requests, so that retries do not overload a
/// failing store.
///
/// Repeats cost tokens and successes earn them. If one in six requests must be repeated, the
/// budget shrinks. Numbers: AWS' standard retry mode, `token_bucket.rs` of smithy-rs 1.9.
struct RetryBudget: Sendable, Hashable {
    /// The most tokens, and the initial number.
    static let tokensMax = 500
    /// The price of a repeat after an error answer or a lost connection.
    static let retryCost = 5
    /// The price of a repeat after a timeout.
    static let timeoutCost = 10
    /// The gain of a success.
    static let successGain = 1

    private(set) var tokens = tokensMax

    /// Spends the tokens of a repeat. Returns false, and spends nothing, if there are not enough.
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
