"""Questions in other languages get English words; English ones, however they are put, none."""

from __future__ import annotations

import pytest

from findling.search import vocabulary
from findling.search.vocabulary import in_english

ENGLISH = """comment parse error
how do I comment out a minimal example
generics with type para error
where is the maximum file size checked
how are passwords hashed
what does the error handler return
minimal example of a server
client port configuration
find the test for the parser
les miserables test data
dans le code
change the page limit
how is the connexion app configured
WebSecurityConfigurer bean
access modifier of a class
thread executer shutdown
data augmenter for images
tentative lock on a record
recherche of types
maxima and minima of a series
cola dependency
why does the build fail on windows
parse command line arguments
retry with exponential backoff
how to add a new language
read configuration from the environment
para tag in html
las file reader
los angeles time zone
who calls this function
database migration rollback
upload a file in chunks
cache invalidation after update
docker container port mapping
image resize and crop
where are log messages written
limit the number of requests per user
queue of background jobs
don't restart when the config is unchanged
what's the key for the session cookie
und error in a comment
version of the package
C'est la vie""".splitlines()


@pytest.mark.parametrize("question", ENGLISH)
def test_an_english_question_is_taken_as_english(question: str) -> None:
    assert in_english(question) == ()


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("¿Cómo configurar el servidor?", {"configuration", "server"}),
        ("dónde se guarda la contraseña del usuario", {"save", "password", "user"}),
        ("wie wird die Datei gespeichert", {"file", "save"}),
        ("Warum werden Anfragen nicht gesperrt", {"request", "block"}),
        ("Comment créer un fichier de configuration", {"create", "file"}),
        ("pourquoi le serveur ne peut pas démarrer", {"server", "start"}),
        ("onde o arquivo é criado pelo usuário", {"file", "user"}),
        ("como alterar a senha do servidor", {"password", "server"}),
        ("如何配置服务器", {"configuration", "server"}),
        ("Wo werden Datenbankverbindungen geöffnet", {"database", "connection", "open"}),
        ("Konfiguration der Umgebung für Prüfungen", {"configuration", "environment", "test"}),
        ("où sont analysés les paramètres de la requête", {"parse", "parameter", "request"}),
        ("cómo se cierran las conexiones inactivas", {"close", "connection"}),
        ("接続プールを閉じる", {"connection", "pool", "close"}),
        ("命令行参数在哪里解析", {"command", "line", "parse"}),
        ("ファイルを削除する", {"file", "delete"}),
    ],
)
def test_a_question_in_another_language_is_put_into_english(question: str, words: set[str]) -> None:
    assert words <= set(in_english(question))


@pytest.mark.parametrize("question", ["¿Cómo?", "wie", "le la les", "der die das", "über", "行動する"])
def test_what_says_nothing_of_software_stays(question: str) -> None:
    assert in_english(question) == ()


def test_a_long_english_text_with_a_few_foreign_words_is_english() -> None:
    text = "The file los datos.csv is not read. " + "When the reader starts it says that the path is wrong. " * 5
    assert in_english(text) == ()


@pytest.mark.parametrize(
    "text", ["wie wird " + "datei" * 50_000, "wie wird nicht " + "unbekanntes " * 9_000, "文" * 90_000]
)
def test_long_texts_take_no_longer(text: str) -> None:
    assert len(in_english(text)) < 10


def test_every_row_of_the_table_has_all_columns() -> None:
    english, columns = vocabulary._columns()
    assert len(english) > 400 and all(len(column) > 400 for column in columns)
    assert all(word.islower() or not word.isascii() for column in columns for word in column)
