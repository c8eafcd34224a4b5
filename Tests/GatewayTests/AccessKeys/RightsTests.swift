import Edits
import Foundation
import Testing

@testable import AccessKeys

@Suite("What a key may do") struct RightsTests {
    static func key(
        tenant: String? = "acme", prefix: String = "acme/", scopes: Set<Scope> = [.enqueue]
    ) throws -> AccessKey {
        let terms = try KeyTerms(
            tenant: tenant.map { try JobID($0) }, assetPrefix: try AssetPrefix(prefix),
            scopes: scopes)
        return AccessKey(id: "0123456789ab", terms: terms, createdAt: 1000)
    }

    @Test(arguments: Scope.allCases) func `no scope includes another one`(_ scope: Scope) throws {
        let key = try Self.key(scopes: [scope])
        #expect(Scope.allCases.filter(key.permits) == [scope])
    }

    @Test(arguments: [
        ("acme/a.jpg", true), ("acme/2026/a.jpg", true), ("acmes/a.jpg", false),
        ("acme", false), ("other/acme/a.jpg", false), ("ACME/a.jpg", false),
    ])
    func `assets are covered by whole components`(_ asset: String, _ isCovered: Bool) throws {
        #expect(try Self.key().covers(try AssetPath(asset)) == isCovered)
        #expect(try Self.key(tenant: nil, prefix: "").covers(try AssetPath(asset)))
    }

    @Test func `a prefix is compared byte by byte, not by what Unicode thinks alike`() {
        let composed = Reach(tenant: nil, folder: "caf\u{E9}/")
        #expect(composed.covers(asset: "caf\u{E9}/a.jpg"))
        #expect(!composed.covers(asset: "cafe\u{301}/a.jpg"))
        // A slash with a combining mark behind it is a slash.
        #expect(Reach(tenant: nil, folder: "a/").covers(asset: "a/\u{301}b.jpg"))
    }

    @Test(arguments: [
        "acme", "/acme/", "../", "acme/../", "acme//", "./", "a\u{7}/", "/",
    ])
    func `what is no folder is refused as a prefix`(_ prefix: String) {
        #expect { try AssetPrefix(prefix) } throws: { ($0 as? KeyError)?.code == .invalidTerms }
    }

    @Test func `ids are kept as tenant and id, and shown as the holder named them`() throws {
        let key = try Self.key()
        let stored = try key.storedJobID(for: try JobID("order.77"))
        #expect(stored.string == "acme.order.77")
        #expect(key.shownID(of: "acme.order.77") == "order.77")
        #expect(key.shownID(of: "acme.b:12") == "b:12")
        for foreign in ["acmes.1", "acme", "acme.", "other.1", "order.77", ""] {
            #expect(key.shownID(of: foreign) == nil, "\(foreign)")
        }
        let all = try Self.key(tenant: nil, prefix: "")
        #expect(try all.storedJobID(for: try JobID("x.1")).string == "x.1")
        #expect(all.shownID(of: "x.1") == "x.1")
    }

    @Test func `an id that does not fit behind the tenant is refused with what fits`() throws {
        let key = try Self.key()
        let longest = String(repeating: "a", count: ContractLimits.jobIDLengthMax - 5)
        #expect(
            try key.storedJobID(for: try JobID(longest)).string.utf8.count
                == ContractLimits.jobIDLengthMax)
        #expect { try key.storedJobID(for: try JobID(longest + "a")) } throws: {
            let error = $0 as? KeyError
            return error?.code == .idTooLong && error?.message.contains("at most 59") == true
        }
        #expect { try key.storedBatchName(for: try JobID(longest)) } throws: {
            ($0 as? KeyError)?.code == .idTooLong
        }
    }

    @Test func `a job is seen only when id, tenant and asset are the key's own`() throws {
        let key = try Self.key()
        let (reach, asset) = (key.reach, "acme/a.jpg")
        #expect(reach.covers(job: "acme.1", tenant: "acme", asset: asset))
        // Of a job without an asset nobody can say that it is in the folder.
        #expect(!reach.covers(job: "acme.1", tenant: "acme", asset: nil))
        #expect(!reach.covers(job: "acme.1", tenant: "other", asset: asset))
        #expect(!reach.covers(job: "other.1", tenant: "acme", asset: asset))
        #expect(!reach.covers(job: "1700000000000-0", tenant: "acme", asset: asset))
        #expect(!reach.covers(job: "acme.1", tenant: "acme", asset: "b/a.jpg"))
        #expect(!reach.covers(tenant: "acmes") && !reach.covers(tenant: ""))
        let all = try Self.key(tenant: nil, prefix: "").reach
        #expect(all.isEverything && all.covers(job: "1", tenant: "default", asset: nil))
        let folder = try Self.key(tenant: nil, prefix: "b/").reach
        #expect(!folder.isEverything && folder.covers(job: "1", tenant: "x", asset: "b/a.jpg"))
        #expect(!folder.covers(job: "1", tenant: "x", asset: "a.jpg"))
    }

    @Test func `a batch is seen by keys of its folder or above, and one of no key by the tenant's`()
        throws
    {
        let wide = try Self.key().reach
        let narrow = try Self.key(prefix: "acme/a/").reach
        func sees(_ reach: Reach, _ folder: String?, tenant: String = "acme") -> Bool {
            reach.covers(batch: "acme.b", tenant: tenant, folder: folder)
        }
        #expect(sees(wide, "acme/") && sees(wide, "acme/a/") && sees(wide, nil))
        #expect(sees(narrow, "acme/a/") && sees(narrow, "acme/a/b/"))
        for folder in ["acme/", "acme/b/", "acme/a", "", nil] {
            #expect(!sees(narrow, folder), "\(folder ?? "none")")
        }
        #expect(!sees(wide, "") && !sees(wide, "acme/", tenant: "other"))
        #expect(try Self.key(prefix: "acme/a/").batchFolder == "acme/a/")
        #expect(try Self.key(tenant: nil, prefix: "").batchFolder == nil)
        #expect(wide.covers(narrow) && !narrow.covers(wide) && !narrow.covers(.everything))
        #expect(Reach.everything.covers(wide) && !wide.covers(Reach(tenant: "b", folder: "acme/")))
    }

    @Test func `terms that make no sense are refused, each with its reason`() throws {
        func refused(_ word: String, _ make: () throws -> KeyTerms) {
            #expect(throws: KeyError.self) { try make() }
            do { _ = try make() } catch { #expect("\(error)".contains(word), "\(error)") }
        }
        let acme = try JobID("acme")
        refused("dot") {
            try KeyTerms(tenant: try JobID("a.b"), assetPrefix: .all, scopes: [.read])
        }
        refused("scope") { try KeyTerms(tenant: acme, assetPrefix: .all, scopes: []) }
        refused("label") {
            try KeyTerms(label: "a\u{1B}[2J", tenant: acme, assetPrefix: .all, scopes: [.read])
        }
        refused("backlogMax is 0") {
            try KeyTerms(
                tenant: acme, assetPrefix: .all, scopes: [.read], quotas: KeyQuotas(backlogMax: 0))
        }
        refused("requestBurst") {
            try KeyTerms(
                tenant: acme, assetPrefix: .all, scopes: [.read],
                quotas: KeyQuotas(requestBurst: 5))
        }
        for origin in [
            "*", "null", "https://a.example/", "ftp://a", "https://A.example", "https://a b",
        ] {
            refused("origin") {
                try KeyTerms(
                    tenant: acme, assetPrefix: .all, scopes: [.read], corsOrigins: [origin])
            }
        }
        _ = try KeyTerms(
            tenant: acme, assetPrefix: .all, scopes: [.read],
            corsOrigins: ["https://a.example:8443", "http://[::1]:3000", "http://localhost"])
    }

    @Test func `a key reads back from its JSON, and its state follows the clock`() throws {
        let terms = try KeyTerms(
            label: "shop", tenant: try JobID("acme"), assetPrefix: try AssetPrefix("acme/"),
            scopes: [.read, .enqueue], quotas: KeyQuotas(backlogMax: 5, requestsPerSecond: 2),
            corsOrigins: ["https://a.example"], expiresAt: 5000)
        var key = AccessKey(id: "0123456789ab", terms: terms, createdAt: 1000)
        let read = try JSONDecoder().decode(AccessKey.self, from: try JSONEncoder().encode(key))
        #expect(read == key)
        #expect(key.state(at: 4999) == .active && key.state(at: 5000) == .expired)
        key.revokedAt = 2000
        #expect(key.state(at: 1) == .revoked)
    }
}
