extension Filter {
    /// Whether every parameter with a neutral value has that value.
    public var changesNothing: Bool {
        let telling = definition.parameters.filter { $0.identity != nil }
        return !telling.isEmpty && telling.allSatisfy { parameters[$0.name] == $0.identity }
    }
}
