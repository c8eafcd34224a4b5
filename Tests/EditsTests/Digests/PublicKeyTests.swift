import Edits
import Foundation
import Testing

/// Signatures were made by the Python package `cryptography` 48, unless an RFC is named.
@Suite("Signatures of public keys") struct PublicKeyTests {
    private static let message = Array("a photo service".utf8)

    private static let modulus = bytes(
        "z9RqytmyMKAw9OhBsvLF-MMS_bZqGAgLiClJb3bfTP0vcEDK5Nv59XhL1kpus8wd832eTgtg9b06sJf9Ik4Xw22A"
            + "0xfRxvwkjUYg-o_D-_NGKIf3l5Eh3l5n06msmSHb1Ahc47vNRpu4Tk6pr_jq0OuWiU0KLyPhKC-Q7O9ntOsTGgU1"
            + "GIrP0I4AL48JPbN82MjSiqz2bbT_e92HNY3vwJPU4obSELsoTQ-88Cjw0UcYLug8GVgml_GIhoq0Onb5Mypfn_2h"
            + "qticJ5tF59YgaJMk_ZIWLp2ImMeRr-VDGbOxWtoj3GbxA1l6Q6n762sH2RG-alLoLu2AzRX7Yl9h-w")

    private static func bytes(_ base64URL: String) -> [UInt8] {
        var text = base64URL.replacing("-", with: "+").replacing("_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        return Array(Data(base64Encoded: text) ?? Data())
    }

    struct Signed: Sendable {
        let padding: PublicKey.Padding
        let hash: PublicKey.Hash
        let signature: String

        init(by padding: PublicKey.Padding, _ hash: PublicKey.Hash, _ signature: String) {
            (self.padding, self.hash, self.signature) = (padding, hash, signature)
        }
    }

    static let rsa = [
        Signed(
            by: .pkcs1, .sha256,
            "aNF0d56f_LcU9L0dUk2a1LQbJjmCkc-M6MWAzU4yNCgMWWO3w9IvAnkVoDT1uNN8c66X1a2lCKVID8U_P3FBQi5P"
                + "sYegv2ieGZijMt91MwzTbMZsKUxJHhY8ZywxtAaDiD_jX5mklS8bxbaaTxf5dzv_M1zde1Ttvd2-13gkDb21NGIv"
                + "cw_8wI2HyvayacNtBRMVwuq5XAKiLkWWIa4ag9FcaR-qGixUFuWhx9GOxyfo0lYKpfxeOTMwFT9RtND8sAD5ftnI"
                + "49AzB_odP-gAHNwAo37P8IEgVxYz7SBp4G1Qc54hQydeQhCYN1EH6-hNGmsUE0hezK5z1H765GcY9g"),
        Signed(
            by: .pss, .sha256,
            "fkb0Lvp64CVXTvYjYYkkHVPkRmXKJwV1ibnQAHIhVs24C3f-iXHCwoXD9fjLaw2RuoKSbNZWFZmYDJIu-fYZLtMk"
                + "-3dSR0YXWxdVjzNx1ku9UrRWizwkrJq4LMhdxi7KUqIi8JRaP5Zy-KRIoKuRQ_liXjR5FB7B3Gpx8yV1H_LEY9Yo"
                + "BfGy_pcaXznNe42q5Qh8I4Zvy2Z_YrSOoc_AMQqZEvbrE-wQZUahKLOygDD_wXTvTrhf9M3Rxvrs_-QpTfVi9LYP"
                + "BvHDkrGosUOwU9PibYSKo-1whzWfHXNI-knFoePcwDyWjkndxXoKayhxAxoYtNUpo9As8866ZBgviw"),
        Signed(
            by: .pkcs1, .sha384,
            "kaLEmEIBqefdm2m0cXCEuL-3xPNS5gFV9pmKFAQAnsGzeFhUcv9stAT8JcjX6Re7pvhRNv5Tq6vrMZndt8S1SUOr"
                + "oq5seVlipzYIoN43nyioynXkQjWVI-3LASVzf1BxCIvPQjch2MXxs6EjWzOaRcdUyUZKGOMWvtDZfjrwlkKiWINB"
                + "SQPWehsjIbHO2AyF1a21NE25OTgt85Vu1g_WoHx3SDPN6p_fAdRWQsuodnYyclWNG6SMfS9UoXKGwCt6-DfcOYP7"
                + "Fe_D0xZbWbWafVe5UWSfltU7tlbD9IIwq-zdSvg5zU-QELGcHWCy9Es4pXgne7V9abzjjBpxnrBeRA"),
        Signed(
            by: .pss, .sha384,
            "C7He8U3rUzH_W-lBaNEr-Ihb6ZGnSOCqCuz5A_UwqCdooiG28yUNPu9myCZcxf3__5m4hjFfPsUC0yHjqvlJxxuh"
                + "S32xJOCJJ1tmDNBDIgmUAazh6lG-tnuSYIlC7n_dFcbBhtoP4dsXyK0bE3QQKJQDUkES_IqE2Bmsq0owXcHunV1O"
                + "lLVDNDzllfyPBQNOHqHgOL7L0HGnxS3liNLnPdPpdRKRTY-ZDDbZ5jFKNNj0uveLVM6nZUMSMuHQBZc6pnK8pZgb"
                + "a3WbZiMjguz-ZtKOYgLBbQbmuxHSwTi4DcqvF9T1BP04uWj43uEMeuYQMEsWp_yfJSPdbTnj5yNmmA"),
        Signed(
            by: .pkcs1, .sha512,
            "rQoZjU7xB9loZO6UDpjlqr7QU0tsNh09pKfRkpVAxZ26HrvdVr_z4-NM-aQub34mFEOeTNU0gjjp7tRcqJ_m7Y2M"
                + "kW3DJ3u1E9McvR2nvgKVfC9gLqk81nHfBW8B3Hn3xnOlpmIm3cHIUpYYrxozBECEeRhu_-A-HFQtK-0MtbG4bc8d"
                + "9h5118sl03QHdmwnWV5YAFN4S792wyONl0uXFAjYZL6j00VacbnefrhogvOjRCFjOUeFieuCt75vSBwCyNUZhxaU"
                + "tYKhknBOsxTp-EdptRzeOeSFnzSkO0agGbf6VfoWIMlNUsPC6nrVj6pOtOKQ9C3Epa0IxAEVW5sJ4w"),
        Signed(
            by: .pss, .sha512,
            "VG9o4Y8-NAtcW_6t_GfCdUCkXzozN7nsd4bCZ2_qeYuF1YEivQgS1sRRfOWg7QEIZ8m8YUlhIS6PEnob--8kaHHL"
                + "uIDdznv8D8f_lOWoU7RaSqHycAGxS3YdLwbEVKwH-CUIh0xY5cwcA_dp-WcDgH_ppH1nigC3CCO4T1uekyrjGldU"
                + "JOuNhLF3M7gPiZln7qnVefCe1SGKook4gh3af8TfQr-XDFIfR1gCSq1nNX7ZP5SVoqqRMqh_ehw8QkIRoXGKkzsc"
                + "kpCv5fpZS5C17G0Qbc5qCRzbJMm6iNdGqpVhEBpMZF4qdDp6yE09dqhmLYHdzOUoOAzkMvqSPW3NnQ"),
    ]

    @Test(arguments: rsa.indices)
    func `an RSA key verifies its signature and not that of another digest or padding`(
        index: Int
    ) throws {
        let key = try #require(PublicKey.rsa(modulus: Self.modulus, exponent: [1, 0, 1]))
        for (other, signed) in Self.rsa.enumerated() {
            let wanted = Self.rsa[index]
            #expect(
                key.verifies(
                    Self.bytes(signed.signature), of: Self.message, hash: wanted.hash,
                    padding: wanted.padding) == (other == index))
        }
    }

    struct Point: Sendable {
        let curve: PublicKey.Curve
        let hash: PublicKey.Hash
        let x: String
        let y: String
        let signature: String

        init(
            _ curve: PublicKey.Curve, _ hash: PublicKey.Hash, x: String, y: String,
            signature: String
        ) {
            (self.curve, self.hash, self.x, self.y) = (curve, hash, x, y)
            self.signature = signature
        }
    }

    static let points = [
        Point(
            .p256, .sha256, x: "JXiYv24oKowrVzySlZkEenKIpD5ZijynuTZ7D2fuarw",
            y: "QU-RRu86xd7_YOenBNxn5gVWbWaPgXc9fAMy5hzBA-c",
            signature:
                "L3E_KrbkpweDDqBKgkb09Jj3nbN0swkQvrkvZxZ1KEXnlc-EdvSxFde0JlYzmTL1WxCZzdifISzrpggR9FgKUw"
        ),
        Point(
            .p384, .sha384, x: "xhKsoPF6fSBsT7MAHkNhFKPsWM4ABP7Q6YXAX1VRSUkjkZrzU6cDYNaC4SJre5cD",
            y: "oiFYJEVerlwkYsNIbuWzrw2KFs5tabSYNTssUK2iQ7sgQWHGqK8BgFQ6k8EJLNZ1",
            signature:
                "cVbxFJG_3Quow_v7-_wxlwD8VBUjNkB_vj9POfOJ2bepVxdLGvazQZBUE0bDzEcf0GduiL9jIxQj2rn5mFvYj_QA"
                + "R_mKQs-D4OMG54tF9DIFj-SNu0XE1-_m1npkue64"),
        Point(
            .p521, .sha512,
            x:
                "AYxpn4bh6esX_I1YkF9odYErCMyezsSizBlrwXBEkuWWEX7Psaa6fWVR9WkkYDZtezQM0Gc7N558TPIJIBqxLXMM",
            y:
                "ANKXRGKSvQt7venE-YmwznvUbIVzD5_D5_BjfDgFRXWMgrNg2l8sGkcfCNkSPuDaNG0eZXdXBF3INFJLhC3jnBTb",
            signature:
                "AHNztukwsBSSUbLJP_ZaIZd9OurhHLYlxvZMTpizzdY510NIjdP7PytyJqe_r-icbUo9A1W_M4mzfNVFuqsCUl1f"
                + "AMfPErQHqYxAAyZLJTm_rzZePAsT9dgPIz10ZoWPdMQhpYqYBOtaNfA2EaCVkGyr3T6Z27GJpQ44FFx1uS0xo897"
        ),
    ]

    @Test(arguments: points)
    func `a point of a curve verifies its signature, whole and of the same bytes`(
        point: Point
    ) throws {
        let key = try #require(
            PublicKey.point(of: point.curve, x: Self.bytes(point.x), y: Self.bytes(point.y)))
        let signature = Self.bytes(point.signature)
        #expect(key.verifies(signature, of: Self.message, hash: point.hash))
        #expect(!key.verifies(signature, of: Self.message + [0], hash: point.hash))
        for index in [0, signature.count / 2, signature.count - 1] {
            var other = signature
            other[index] ^= 1
            #expect(!key.verifies(other, of: Self.message, hash: point.hash))
        }
        #expect(!key.verifies(Array(signature.dropLast()), of: Self.message, hash: point.hash))
        #expect(!key.verifies([], of: Self.message, hash: point.hash))
        let zeros = [UInt8](repeating: 0, count: signature.count)
        #expect(!key.verifies(zeros, of: Self.message, hash: point.hash))
        // The same point written with one more zero, or moved off its curve, is no key.
        #expect(
            PublicKey.point(of: point.curve, x: [0] + Self.bytes(point.x), y: Self.bytes(point.y))
                == nil)
        #expect(
            PublicKey.point(of: point.curve, x: Self.bytes(point.y), y: Self.bytes(point.x)) == nil)
    }

    @Test func `the example of RFC 7515, A.3 is genuine`() throws {
        let key = try #require(
            PublicKey.point(
                of: .p256, x: Self.bytes("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
                y: Self.bytes("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")))
        let signed =
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
            + "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        let signature = Self.bytes(
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        )
        #expect(key.verifies(signature, of: Array(signed.utf8)))
    }

    @Test func `the example of RFC 8037, A.4 is genuine`() throws {
        let key = try #require(
            PublicKey.ed25519(Self.bytes("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")))
        let signed = Array("eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc".utf8)
        let signature = Self.bytes(
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        )
        #expect(key.verifies(signature, of: signed))
        #expect(!key.verifies(signature, of: signed + signed))
        #expect(PublicKey.ed25519([1, 2, 3]) == nil)
        // The neutral element, with which everybody can sign, in three ways to write it.
        let zeros = [UInt8](repeating: 0, count: 31)
        let ones = [UInt8](repeating: 0xFF, count: 30)
        for point in [[1] + zeros, [1] + zeros.dropLast() + [0x80], [0xEE] + ones + [0x7F]] {
            #expect(PublicKey.ed25519(point) == nil)
        }
    }

    @Test func `numbers that are no RSA key, or a short or a very long one, make none`() {
        let short = Self.bytes(
            "5QujdalvZaLqKbFbdFROwKn-mm1BhvO7_GGB0nnKskcB2TqMlqjm85NJqwSqNoSqKKjjh3RXTS6xf-36SglEZAs-"
                + "mFO8aBrrVihst6vSvBy67Up6fhmHRLty_tFclypK48gIOpr-RBsSxvjnkLy_CNXre1VKrzb6O-zYtwrwA2k"
        )
        #expect(PublicKey.rsa(modulus: short, exponent: [1, 0, 1]) == nil)
        #expect(PublicKey.rsa(modulus: [], exponent: [1, 0, 1]) == nil)
        #expect(PublicKey.rsa(modulus: Self.modulus.dropLast() + [0], exponent: [1, 0, 1]) == nil)
        // With 1 as the exponent the padded digest itself is a signature.
        for exponent: [UInt8] in [[], [0], [1], [0, 1], [2], [4], [1, 0, 0], [2, 0, 0, 0, 1]] {
            #expect(PublicKey.rsa(modulus: Self.modulus, exponent: exponent) == nil)
        }
        #expect(PublicKey.rsa(modulus: Self.modulus, exponent: [3]) != nil)
        let long = [UInt8](repeating: 0xFF, count: PublicKey.modulusBitsMax / 8 + 1)
        #expect(PublicKey.rsa(modulus: long, exponent: [1, 0, 1]) == nil)
    }
}
