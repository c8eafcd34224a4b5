/// Why a connection, or an attempt at one, ended.
struct LinkFailure: Error, Equatable {
    enum Consequence: Equatable {
        /// It may be gone in a moment: commands that are not yet written wait for the next attempt.
        case passing
        /// Somebody has to act: those who wait are told at once, while the attempts go on.
        case refusal
        /// The server to talk to is another one.
        case redirection(RedisURL.Address)
    }

    let consequence: Consequence
    /// The code for the commands that ``consequence`` fails, or that were written.
    let code: RedisError.Code
    /// A clause without the address and without a full stop; a sentence is made around it.
    var reason: String
    var serverError: RedisServerError?

    /// Whether it only says where to go on.
    var isRedirection: Bool { if case .redirection = consequence { true } else { false } }

    /// The end that an error of this client's own brings about.
    init(_ error: RedisError, consequence: Consequence) {
        let reason = error.message.hasSuffix(".") ? error.message.dropLast() : error.message[...]
        self.init(consequence: consequence, code: error.code, reason: String(reason))
    }

    init(
        consequence: Consequence, code: RedisError.Code, reason: String,
        serverError: RedisServerError? = nil
    ) {
        self.consequence = consequence
        self.code = code
        self.reason = reason
        self.serverError = serverError
    }

    static func passing(_ reason: String) -> LinkFailure {
        LinkFailure(consequence: .passing, code: .connectionLost, reason: reason)
    }

    static func refusal(
        _ code: RedisError.Code, _ reason: String, serverError: RedisServerError? = nil
    ) -> LinkFailure {
        LinkFailure(consequence: .refusal, code: code, reason: reason, serverError: serverError)
    }

    static func redirection(to address: RedisURL.Address, _ reason: String) -> LinkFailure {
        LinkFailure(consequence: .redirection(address), code: .connectionLost, reason: reason)
    }

    static func violation(_ reason: String) -> LinkFailure {
        LinkFailure(consequence: .passing, code: .protocolViolation, reason: reason)
    }
}
