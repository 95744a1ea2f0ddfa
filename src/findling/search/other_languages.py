"""Common words of questions about software in other languages, and what English documentation calls them. Pure.

A few hundred words, not a translation: enough that a question in Spanish, Portuguese, German, French, Chinese or
Japanese shares words with an answer in English.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_SPACED = """
archivo archivos arquivo arquivos fichero ficheros datei dateien fichier fichiers: file
carpeta carpetas directorio diretorio ordner verzeichnis répertoire: directory
servidor servidores serveur: server
cliente clientes klient: client
usuario usuarios benutzer nutzer utilisateur: user
contrasena contrasenas senha senhas passwort kennwort: password
chave chaves schlussel cle: key
certificado certificados zertifikat zertifikate certificat: certificate
firmado signiert signe: signed
prueba pruebas teste testes: test
errores erro erros fehler erreur erreurs: error
configuracion configuracao configurar einstellung einstellungen konfiguration konfigurieren: configuration
ejecutar ejecuta executar ausfuhren: run
iniciar arrancar inicio starten gestartet demarrer: start
detener parar stoppen anhalten arreter: stop
reiniciar neustart neustarten redemarrer: restart
guardar guarda salvar speichern gespeichert enregistrer: save
borrar eliminar excluir apagar loschen geloscht supprimer: delete
buscar busqueda suchen suche pesquisar rechercher: search
cambiar cambio andern anderung anderungen: change
crear crea criar erstellen erzeugen creer: create
anadir agregar adicionar hinzufugen ajouter: add
soporte unterstutzung unterstutzt: support
lenguaje lenguajes linguagem idioma sprache sprachen langage: language
programacion programmierung programmation: programming
proyecto proyectos projeto projetos projekt projekte projet: project
tamano tamanho grosse taille: size
maximo maximale: maximum
minimo minimale: minimum
aumentar aumento erhohen: increase
subir subida hochladen hochgeladen televerser: upload
descargar descarga herunterladen telecharger: download
pagina paginas seiten webseite webseiten: page
pantalla tela bildschirm ecran: screen
netzwerk rede reseau: network
conexion conexao verbindung verbindungen: connection
peticion peticiones solicitud requisicao anfrage anfragen requete requetes: request
respuesta respuestas resposta respostas antwort antworten reponse: response
tiempo espera zeit wartezeit attente: time
espera wartezeit warten attente: delay
limite limites grenze grenzen: limit
intento intentos reintento versuch versuche: attempt
reintento reintentar wiederholung wiederholen reessayer: retry
calcular calcula berechnet berechnen berechnung calculer: calculate
evitar vermeiden verhindern eviter: avoid
bloquear bloqueado gesperrt sperren blockiert bloquer: block
datos dados daten donnees: data
datenbank: database
consulta consultas abfrage abfragen: query
registro registros protokoll protokolle: log
entorno umgebung environnement: environment
imagen imagenes imagem imagens bilder: image
contenedor contenedores behalter conteneur: container
puerto puertos: port
nombre nombres nome nomes namen: name
instalar instalacion installieren: install
actualizar atualizar aktualisieren: update
colas warteschlange: queue
hilo hilos faden: thread
memoria speicher memoire: memory
obtener obter erhalten bekommen obtenir: get
otro otra otros andere anderen autre: another
siguiente nachste nachsten suivant: next
seguro seguridad sicherheit securite: security
"""

_UNSPACED = """
文件 ファイル: file
目录 文件夹 フォルダ ディレクトリ: directory
服务器 サーバー サーバ: server
服务 サービス: service
客户端 クライアント: client
用户 ユーザー: user
密码 パスワード: password
凭据: credentials
认证 認証: authentication
证书 証明書: certificate
测试 テスト: test
单元 ユニット: unit
错误 エラー: error
配置 设置 設定: configuration
运行 执行 実行: run
启动 起動: start
停止: stop
重启 再起動: restart
恢复 復元: restore
保存: save
删除 削除: delete
搜索 检索 検索: search
更改 修改 変更: change
创建 作成: create
添加 追加: add
支持 対応: support
语言 言語: language
项目 プロジェクト: project
大小 サイズ: size
最大: maximum
最小: minimum
上传 アップロード: upload
下载 ダウンロード: download
页面 ページ: page
网络 ネットワーク: network
连接 接続: connection
请求 リクエスト: request
响应 返回 レスポンス: response return
超时 タイムアウト: timeout
等待 待機: wait
限制 制限: limit
重试 リトライ: retry
避免 避ける: avoid
数据库 データベース: database
查询 クエリ: query
日志 ログ: log
环境 環境: environment
变量 変数: variable
图像 画像: image
容器 コンテナ: container
端口 ポート: port
名称 名前: name
版本 バージョン: version
安装 インストール: install
更新: update
队列 キュー: queue
线程 スレッド: thread
内存 メモリ: memory
自动 自動: automatic
端点 エンドポイント: endpoint
检查 確認: check
管道 パイプライン: pipeline
策略 戦略: strategy
缓存 キャッシュ: cache
慢 遅い: slow
アプリ 应用: app
无视 忽略 無視: ignored
"""


def _read(table: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in table.strip().splitlines():
        words, english = line.split(": ")
        for word in words.split():
            found[word] = (*found.get(word, ()), *english.split())
    return found


@cache
def _tables() -> tuple[dict[str, tuple[str, ...]], re.Pattern[str], dict[str, tuple[str, ...]]]:
    unspaced = _read(_UNSPACED)
    longest_first = sorted(unspaced, key=len, reverse=True)
    return _read(_SPACED), re.compile("|".join(map(re.escape, longest_first))), unspaced


_SIGNS = 2
"""Different signs of another language in a question: a single foreign word may be a name."""

_SPOKEN = re.compile(
    r"[¿¡]|\b(?:[dlj]|qu)['’](?=\w{3})|\b(?:como|que|donde|cual|cuando|los|las|una|puedo|hacer|"
    r"nao|voce|onde|uma|quais|posso|"
    r"wie|warum|welche[rsn]?|wird|werden|nicht|und|eine[rnms]?|kann|ich|wenn|"
    r"pourquoi|quels?|quelles?|est-ce|avec|une|peut|quand|faire)\b"
)
"""Signs, in lower case without accents, that are neither English words nor code; so are the words of `_SPACED`, where
an accent stands only if the word is English without."""

_ALSO_ENGLISH = frozenset("comment para les dans le la un el de der die das des du em os".split())
"""Frequent words that prove nothing by themselves, as they are English words or code too."""


def in_english(text: str) -> tuple[str, ...]:
    """English words for what a text in another language says; () for English. Takes time linear in the text."""
    spaced, pattern, unspaced = _tables()
    found: dict[str, None] = {}
    if not text.isascii():
        for match in pattern.findall(text):
            found.update(dict.fromkeys(unspaced[match]))
    words = [(word, _plain(word)) for word in re.findall(r"\w+", unicodedata.normalize("NFC", text.lower()))]
    known = {word if word in spaced else plain: None for word, plain in words if word in spaced or plain in spaced}
    spoken = set(_SPOKEN.findall(_plain(text)))
    unsure = any(plain in _ALSO_ENGLISH for _, plain in words)
    if known and ((spoken and len(spoken | known.keys()) >= _SIGNS) or (unsure and len(known) >= _SIGNS)):
        for key in known:
            found.update(dict.fromkeys(spaced[key]))
    return tuple(found)


def _plain(text: str) -> str:
    """Lower case without accents."""
    return "".join(
        char
        for char in unicodedata.normalize("NFD", text.lower().replace("ß", "ss"))
        if not unicodedata.combining(char)
    )
