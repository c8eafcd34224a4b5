import Redis

/// A value as one or several arguments of a command or a script.
protocol Arguments {
    func append(to arguments: inout [RedisArgument])
}

extension RedisArgument: Arguments {
    func append(to arguments: inout [RedisArgument]) { arguments.append(self) }

    /// The arguments that values make, in their order.
    static func list(_ values: [any Arguments]) -> [RedisArgument] {
        var list: [RedisArgument] = []
        list.reserveCapacity(values.count)
        for value in values { value.append(to: &list) }
        return list
    }
}

extension String: Arguments {
    func append(to arguments: inout [RedisArgument]) { arguments.append(RedisArgument(self)) }
}

extension Int: Arguments {
    func append(to arguments: inout [RedisArgument]) { arguments.append(RedisArgument(self)) }
}

/// Milliseconds.
extension Duration: Arguments {
    func append(to arguments: inout [RedisArgument]) { milliseconds.append(to: &arguments) }
}

/// `1` or an empty argument.
extension Bool: Arguments {
    func append(to arguments: inout [RedisArgument]) { arguments.append(self ? "1" : "") }
}

/// An empty argument for nil.
extension Optional: Arguments where Wrapped: Arguments {
    func append(to arguments: inout [RedisArgument]) {
        if let self { self.append(to: &arguments) } else { arguments.append("") }
    }
}

extension Array: Arguments where Element: Arguments {
    func append(to arguments: inout [RedisArgument]) {
        for element in self { element.append(to: &arguments) }
    }
}

extension ArraySlice: Arguments where Element: Arguments {
    func append(to arguments: inout [RedisArgument]) {
        for element in self { element.append(to: &arguments) }
    }
}
