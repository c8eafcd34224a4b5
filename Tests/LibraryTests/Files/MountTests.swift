import Files
import SystemPackage
import Testing

@Suite("Mounts") struct MountTests {
    private func nfs(_ type: String, _ options: String) -> Mount? {
        Mount(
            line: "52 22 0:34 / /mnt/photos rw,relatime shared:9 - \(type) server:/ rw,\(options)",
            device: "0:34")
    }

    @Test func `are found by their device, with type and options`() throws {
        let mount = try #require(nfs("nfs4", "vers=4.2,hard,local_lock=none"))
        #expect(mount.type == "nfs4")
        #expect(mount.options == ["rw", "vers=4.2", "hard", "local_lock=none"])
        #expect(Mount(line: "52 22 0:35 / /mnt rw - ext4 /dev/vda rw", device: "0:34") == nil)
        for line in ["", "52 22 0:34", "52 22 0:34 / /mnt rw - ext4", "52 22 0:34 / /mnt rw"] {
            #expect(Mount(line: Substring(line), device: "0:34") == nil, "\(line)")
        }
        #expect(try Mount(of: "/proc")?.type == "proc")
    }

    @Test(arguments: [
        ("nfs4", "vers=4.2,hard,local_lock=none", nil), ("nfs", "vers=4.1,hard", nil),
        ("ext4", "errors=remount-ro", nil), ("nfs", "vers=3,hard,local_lock=none", "NFS 3"),
        ("nfs", "vers=3,nolock,local_lock=all", "NFS 3"),
        ("nfs4", "vers=4.2,hard,local_lock=flock", "this machine alone"),
        ("nfs4", "vers=4.2,soft,local_lock=none", "soft"), ("nfs4", "vers=4.2,softerr", "soft"),
    ])
    func `are objected to where several machines would harm each other`(
        type: String, options: String, reason: String?
    ) throws {
        let objection = try #require(nfs(type, options)).objection
        #expect((objection == nil) == (reason == nil))
        if let reason { #expect(objection?.contains(reason) == true) }
    }
}
