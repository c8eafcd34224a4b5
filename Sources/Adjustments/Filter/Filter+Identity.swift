extension Filter {
    /// Whether every parameter that has a value which changes nothing has it.
    public var changesNothing: Bool {
        let telling = definition.parameters.filter { $0.identity != nil }
        return !telling.isEmpty && telling.allSatisfy { parameters[$0.name] == $0.identity }
    }
}
