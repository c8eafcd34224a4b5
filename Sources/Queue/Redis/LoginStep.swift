/// One command of the login, and the rule for its reply.
struct LoginStep {
    enum Kind {
        case authenticate, setName, select
        /// Tests whether the server executes commands: whether it is loaded and needs no (other) password.
        case ping
        /// Tests whether the sentinels named the right server. It uses HELLO and not ROLE, because HELLO needs no permission.
        case confirmMaster
        /// Sends the login to a sentinel, which may need it, another one, or none; the next reply shows it.
        case offerLogin
        /// Asks a sentinel for the address of the master.
        case findMaster
    }

    let kind: Kind
    let arguments: [RedisArgument]

    /// Returns the commands of a new connection's login, in their order.
    static func all(for configuration: RedisConfiguration, at stop: Route.Stop) -> [LoginStep] {
        let url = configuration.url
        let login: [RedisArgument]? = url.password.map { password in
            ["AUTH"] + [url.user, password].compactMap { $0 }.map { RedisArgument($0) }
        }
        guard case .sentinel(let master, _) = url.topology else {
            return server(configuration, login)
        }
        guard stop.isSentinel else {
            return server(configuration, login)
                + [LoginStep(kind: .confirmMaster, arguments: ["HELLO"])]
        }
        let question: [RedisArgument] = [
            "SENTINEL", "GET-MASTER-ADDR-BY-NAME", RedisArgument(master),
        ]
        let offers = login.map { [LoginStep(kind: .offerLogin, arguments: $0)] } ?? []
        return offers + [LoginStep(kind: .findMaster, arguments: question)]
    }

    private static func server(
        _ configuration: RedisConfiguration, _ login: [RedisArgument]?
    ) -> [LoginStep] {
        var steps: [LoginStep] = []
        if let login { steps.append(LoginStep(kind: .authenticate, arguments: login)) }
        if !configuration.name.isEmpty {
            let name = RedisArgument(configuration.name)
            steps.append(LoginStep(kind: .setName, arguments: ["CLIENT", "SETNAME", name]))
        }
        if configuration.url.database != 0 {
            let database = RedisArgument(configuration.url.database)
            steps.append(LoginStep(kind: .select, arguments: ["SELECT", database]))
        }
        steps.append(LoginStep(kind: .ping, arguments: ["PING"]))
        return steps
    }

    /// Returns the failure with which the connection ends after this step's reply; nil if the login continues.
    func failure(from reply: RedisReply, configuration: RedisConfiguration) -> LinkFailure? {
        guard case .error(let error) = reply else {
            return switch kind {
            case .findMaster: Self.master(in: reply)
            case .confirmMaster: Self.doubt(of: reply)
            case .authenticate, .setName, .select, .ping, .offerLogin: nil
            }
        }
        // These conditions are transient, whatever the step.
        if ["LOADING", "MASTERDOWN", "BUSY"].contains(error.prefix)
            || error.message.hasPrefix("ERR max number of clients")
        {
            return .passing("the server is not ready: \(error.message)")
        }
        let url = configuration.url
        // Any first command to a server is refused so, and no fault of it. What a sentinel wants, its own advice says.
        if error.prefix == "NOAUTH", url.password == nil,
            ![.offerLogin, .findMaster].contains(kind)
        {
            return .refusal(
                .loginRefused,
                "the server wants a login (\(error.message)); set redis.user and redis.password.file (MINILAB_REDIS_USER, "
                    + "MINILAB_REDIS_PASSWORD_FILE), or put user and password into the URL",
                serverError: error)
        }
        let advice: String
        switch kind {
        case .authenticate:
            advice = "check the password of user \"\(url.user ?? "default")\""
        case .setName:
            // The name is for people who read CLIENT LIST. A producer has only the permission to XADD.
            guard error.prefix != "NOPERM" else { return nil }
            advice = "set another client name (it is \"\(configuration.name)\")"
        case .select:
            advice = "check database \(url.database)"
        case .ping:
            // A user without the permission to PING is logged in nevertheless. A server whose disk is full refuses PING like a
            // write, and goes on with all that reads.
            guard error.prefix != "NOPERM", error.prefix != "MISCONF" else { return nil }
            advice = "put user and password into the URL"
        case .offerLogin: return nil
        case .findMaster:
            advice = "is a sentinel there, and does it take the same login as the servers?"
        case .confirmMaster:
            advice = "Redis 6 or newer is needed"
        }
        return .refusal(
            .loginRefused, "the server refused the login (\(error.message)); \(advice)",
            serverError: error)
    }

    /// Returns the redirection to the master that a sentinel named.
    private static func master(in reply: RedisReply) -> LinkFailure {
        if reply.isNull {
            return .refusal(
                .unknownMaster, "the sentinel watches no master of that name; check the URL")
        }
        guard let parts = reply.array, parts.count == 2, let host = parts[0].string,
            let port = parts[1].int, 1...65_535 ~= port
        else { return .violation("the sentinel answered \(reply) for the master's address") }
        return .redirection(
            to: .tcp(host: host, port: Int(port)), "it named the master at \(host):\(port)")
    }

    /// Returns the failure if the reply to HELLO does not come from a master.
    private static func doubt(of reply: RedisReply) -> LinkFailure? {
        let fields = reply.array ?? []
        guard let key = fields.firstIndex(where: { $0.string == "role" }), key + 1 < fields.count
        else { return .violation("it answered HELLO without a role") }
        return fields[key + 1].string == "master"
            ? nil
            : .passing(
                "it is not the master, or not yet, although a sentinel reports it as the master")
    }
}
