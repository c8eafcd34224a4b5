import Testing

@testable import Operations

@Suite("Snapshots of the queue that callers share") struct SharedSnapshotTests {
    @Test(arguments: [
        (duration: 0, age: 1000), (duration: 3, age: 1000), (duration: 20, age: 1000),
        (duration: 40, age: 2000),
        (duration: 100, age: 5000), (duration: 60_000, age: 5000),
    ])
    func `a queue is read less often when a reading takes long, and at least every five seconds`(
        _ example: (duration: Int, age: Int)
    ) {
        #expect(
            SharedSnapshot.age(after: .milliseconds(example.duration)) == .milliseconds(example.age)
        )
    }
}
