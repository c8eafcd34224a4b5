/// One command of the login, and how its answer is judged.
struct LoginStep {
    enum Kind {
        case authenticate, setName, select
        /// Shows that the server answers commands: that it is loaded and wants no (other) password.
        case ping
    }

    let kind: Kind
    let arguments: [RedisArgument]

    /// The commands a new connection begins with, in their order.
    static func all(for configuration: RedisConfiguration) -> [LoginStep] {
        let url = configuration.url
        var steps: [LoginStep] = []
        if let password = url.password {
            let login = [url.user, password].compactMap { $0 }.map { RedisArgument($0) }
            steps.append(LoginStep(kind: .authenticate, arguments: ["AUTH"] + login))
        }
        if !configuration.name.isEmpty {
            let name = RedisArgument(configuration.name)
            steps.append(LoginStep(kind: .setName, arguments: ["CLIENT", "SETNAME", name]))
        }
        if url.database != 0 {
            steps.append(
                LoginStep(kind: .select, arguments: ["SELECT", RedisArgument(url.database)]))
        }
        steps.append(LoginStep(kind: .ping, arguments: ["PING"]))
        return steps
    }

    /// What is wrong with the answer to this step, or nil when the login may go on.
    func failure(from reply: RedisReply, configuration: RedisConfiguration) -> LinkFailure? {
        guard case .error(let error) = reply else { return nil }
        // Conditions that end by themselves, whatever the step.
        if ["LOADING", "MASTERDOWN", "BUSY"].contains(error.prefix)
            || error.message.hasPrefix("ERR max number of clients")
        {
            return .passing("the server is not ready: \(error.message)")
        }
        let url = configuration.url
        let advice: String
        switch kind {
        case .authenticate:
            advice = "check the password of user \"\(url.user ?? "default")\""
        case .setName:
            advice = "allow client|setname, or set no client name (it is \"\(configuration.name)\")"
        case .select:
            advice = "check database \(url.database)"
        case .ping:
            // A user who may not PING is logged in all the same.
            guard error.prefix != "NOPERM" else { return nil }
            advice = "put user and password into the URL"
        }
        return .refusal(
            .loginRefused, "the server refused the login (\(error.message)); \(advice)",
            serverError: error)
    }
}
