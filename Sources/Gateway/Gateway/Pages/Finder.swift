import AccessKeys
import Edits
import Dashboard
import HTTPTypes
import JobQueue
import Library
import Operations

/// A search for the objects that a text names. Only exact names match, so the cost does not depend on the size of the
/// queue.
struct Finder {
    private let call: Call
    private let text: String?

    init(_ call: Call) {
        self.call = call
        text = call.formQuery("q").map { String($0.prefix(2000)) }
    }

    func page() async throws -> FindPage {
        guard let text else { return FindPage(call.frame(), query: nil, groups: []) }
        let key = try call.key
        var groups: [FindGroup] = []
        let job = key.stored(inPath: text)
        do {
            let view = try await JobView.find(job, call)
            groups.append(
                FindGroup("Jobs", [.job(view.job, state: view.state.rawValue, note: view.detail)]))
        } catch let problem as Problem where problem.status.code < 500 {
            // The text is not a job, or it is another tenant's.
        }
        if let record = try await batch(text) {
            groups.append(
                FindGroup("Batches", [.batch(record.batch, note: counted(record.jobs, "job"))]))
        }
        if let asset = try await asset(text) {
            groups.append(FindGroup("Assets", [.asset(asset.string)]))
        }
        if key.permits(.operate) {
            if let code = FailureCode(rawValue: text) {
                groups.append(
                    FindGroup(
                        "Dead by code",
                        [
                            .dead(
                                code.rawValue, DeadSelection(tenant: key.tenant?.string, code: text)
                            )
                        ]))
            }
            if try await isTenant(text) {
                groups.append(FindGroup("Tenants", [.dead(text, DeadSelection(tenant: text))]))
            }
        }
        return FindPage(call.frame(), query: text, groups: groups)
    }

    /// Returns whether a tenant with this name has dead jobs, ready jobs or limits and the caller may see it.
    private func isTenant(_ text: String) async throws -> Bool {
        guard JobID.isAllowed(text) else { return false }
        let reach = try call.key.reach
        guard reach.isEverything else { return reach.tenant == text }
        let queue = call.parts.queue
        if try await queue.deadGroups().groups.contains(where: { $0.tenant == text }) {
            return true
        }
        if try await call.parts.views.snapshots.current().status.flows.contains(where: {
            $0.tenant == text
        }) {
            return true
        }
        return try await queue.tenantRules()[text] != nil
    }

    /// Returns the batch with this name, which may have the prefix `batch:`.
    private func batch(_ text: String) async throws -> BatchRecord? {
        let prefix = "batch:"
        let text = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        guard JobID.isAllowed(text) else { return nil }
        let key = try call.key
        let name: BatchID
        do throws(Failure) { name = try key.stored(batch: JobID(text)) } catch { return nil }
        guard let record = try await call.parts.queue.record(of: name),
            record.isWithin(key.reach)
        else { return nil }
        return record
    }

    /// Returns the asset with this path, if it has an original or an edit.
    private func asset(_ text: String) async throws -> AssetPath? {
        let key = try call.key
        do throws(Failure) {
            let asset = try AssetPath(text)
            guard key.covers(asset) else { return nil }
            if try await call.parts.library.state(of: asset) == AssetState() {
                try await call.parts.library.checkOriginal(of: asset)
            }
            return asset
        } catch {
            guard error.isStoreFailure else {
                try await call.believeAbsence()
                return nil
            }
            throw error
        }
    }
}

extension Failure {
    /// Whether the library did not answer, so that it is unknown whether the asset exists.
    var isStoreFailure: Bool { [.storeUnavailable, .ioFailure].contains(code) }
}

extension JobID {
    /// Returns whether a text is a valid id.
    static func isAllowed(_ text: String) -> Bool {
        do throws(Failure) {
            _ = try JobID(text)
            return true
        } catch {
            return false
        }
    }
}
