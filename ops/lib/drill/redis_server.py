"""A private Redis with the users of ops/redis-users.conf, so that a drill may do what an operator may, and no more."""

import os
import subprocess

from resp import Redis
from servers import Server

SECRETS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../deploy/secrets")


class GuardedRedis(Server):
    """`secrets` has a file redis-USER with the password of each user."""

    def __init__(self, folder):
        self.secrets = f"{folder}-secrets"
        subprocess.run([SECRETS, self.secrets], check=True, stdout=subprocess.DEVNULL)
        super().__init__(folder, ["--aclfile", f"{self.secrets}/users.acl"])

    def password_file(self, user):
        return f"{self.secrets}/redis-{user}"

    def password(self, user):
        with open(self.password_file(user)) as file:
            return file.read()

    def as_user(self, user, *command):
        """One command of a user; RedisError when Redis refuses it."""
        with Redis(self.socket) as redis:
            redis("AUTH", user, self.password(user))
            return redis(*command)

    def __call__(self, *command):
        return self.as_user("admin", *command)

    def login(self, user):
        """The settings of a program of Minilab that comes as this user."""
        return {"MINILAB_REDIS": self.url, "MINILAB_REDIS_USER": user,
                "MINILAB_REDIS_PASSWORD_FILE": self.password_file(user)}
