import MinilabTesting
import Synchronization
import Testing

@testable import AccessKeys

@Suite("Rate limits") struct RateLimiterTests {
    @Test func `a bucket never gives more than burst and rate allow, whenever it is asked`() {
        var generator = SeededGenerator(usual: 3)
        generator.printSeed()
        for _ in 0..<50 {
            let rate = Int.random(in: 1...50, using: &generator)
            let burst = Int.random(in: 1...100, using: &generator)
            var bucket = TokenBucket(rate: rate, burst: burst, at: .zero)
            var now = Duration.zero
            var consumed = 0
            for _ in 0..<500 {
                now += .milliseconds(Int.random(in: 0...200, using: &generator))
                if bucket.consume(at: now) { consumed += 1 }
                let allowed = Double(burst) + now / .seconds(1) * Double(rate)
                #expect(Double(consumed) <= allowed + 1e-6)
            }
        }
    }

    @Test func `who waits as long as a refusal says is let through`() {
        let time = Mutex(Duration.zero)
        let limiter = RateLimiter(name: "requests") { time.withLock { $0 } }
        for _ in 0..<5 {
            #expect(limiter.consume(for: "a", rate: 2, burst: 5).isAllowed)
        }
        let refused = limiter.consume(for: "a", rate: 2, burst: 5)
        #expect(!refused.isAllowed && refused.remaining == 0)
        #expect(refused.retryAfterSeconds == 1)
        #expect(
            refused.headers.map { "\($0.name): \($0.value)" } == [
                #"RateLimit-Policy: "requests";q=5;w=3"#, #"RateLimit: "requests";r=0;t=3"#,
                "Retry-After: 1",
            ])
        #expect(limiter.consume(for: "b", rate: 2, burst: 5).remaining == 4)
        time.withLock { $0 += .seconds(1) }
        let allowed = limiter.consume(for: "a", rate: 2, burst: 5)
        #expect(allowed.isAllowed && allowed.retryAfterSeconds == nil)
        // Other terms make a new bucket.
        #expect(limiter.consume(for: "a", rate: 9, burst: 9).remaining == 8)
    }

    @Test func `callers without a place share a bucket, and idle ones lose theirs`() {
        let time = Mutex(Duration.zero)
        let limiter = RateLimiter(name: "requests", bucketsMax: 10) { time.withLock { $0 } }
        for caller in 0..<10 {
            #expect(limiter.consume(for: "\(caller)", rate: 1, burst: 2).isAllowed)
        }
        let late = (10..<1000).filter { limiter.consume(for: "\($0)", rate: 1, burst: 2).isAllowed }
        #expect(late.count == 2 && limiter.bucketsCount == 10)
        #expect(limiter.consume(for: "3", rate: 1, burst: 2).isAllowed)
        time.withLock { $0 += .seconds(60) }
        #expect(limiter.consume(for: "new", rate: 1, burst: 2).remaining == 1)
        #expect(limiter.bucketsCount == 1)
    }

    @Test func `a clock that goes back gives nothing and takes nothing`() {
        var bucket = TokenBucket(rate: 1, burst: 3, at: .seconds(10))
        let consumed = [(3, 10), (1, 5), (1, 10), (1, 11)].map { count, second in
            bucket.consume(count, at: .seconds(second))
        }
        #expect(consumed == [true, false, false, true])
        #expect(bucket.secondsUntil(2, at: .seconds(11)) == 2)
    }
}
