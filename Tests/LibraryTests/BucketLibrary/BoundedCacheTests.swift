import Testing

@testable import BucketLibrary

@Suite("A bounded cache") struct BoundedCacheTests {
    @Test func `the values that were not used longest go, by what they cost`() {
        let cache = BoundedCache<Int, String>(costMax: 100)
        for number in 0..<4 { cache.set(number, "\(number)", cost: 25) }
        #expect(cache[0] == "0")
        cache.set(4, "4", cost: 1)
        #expect(cache[0] == "0")
        #expect(cache[1] == nil)
        #expect(cache[4] == "4")
        cache.remove(0)
        #expect(cache[0] == nil)
    }

    @Test func `a value that costs too much evicts nothing, and its old one is removed`() {
        let cache = BoundedCache<Int, String>(costMax: 100)
        cache.set(1, "old", cost: 10)
        cache.set(1, "new", cost: 26)
        #expect(cache[1] == nil)
    }
}
