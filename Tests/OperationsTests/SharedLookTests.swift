import Testing

@testable import Operations

@Suite("looks at the queue that many share") struct SharedLookTests {
    @Test(arguments: [
        (took: 0, age: 1000), (took: 3, age: 1000), (took: 20, age: 1000), (took: 40, age: 2000),
        (took: 100, age: 5000), (took: 60_000, age: 5000),
    ])
    func `a queue is looked at less often when a look takes long, and at least every five seconds`(
        _ look: (took: Int, age: Int)
    ) {
        #expect(
            SharedLook.age(after: .milliseconds(look.took)) == .milliseconds(look.age))
    }
}
