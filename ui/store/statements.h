/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The statements that are kept prepared: X(name, text). Included several times.
 */
/* clang-format off */
X(BEGIN, "BEGIN IMMEDIATE")
X(COMMIT, "COMMIT")
X(ROLLBACK, "ROLLBACK")
X(META, "SELECT value FROM meta WHERE name = ?1")
X(SET_META, "INSERT OR REPLACE INTO meta(name, value) VALUES(?1, ?2)")

X(FIND_SESSION, "SELECT id FROM sessions WHERE name = ?1")
X(ADD_SESSION, "INSERT INTO sessions(name, created_us, used_us, cells) VALUES(?1, ?2, ?2, 0)")
X(USE_SESSION, "UPDATE sessions SET used_us = max(used_us, ?2), cells = cells + 1 WHERE id = ?1")
X(LIST_SESSIONS, "SELECT id, name, used_us, cells FROM sessions ORDER BY used_us DESC, id DESC")
X(RENAME_SESSION, "UPDATE sessions SET name = ?2 WHERE id = ?1")
X(DELETE_SESSION, "DELETE FROM sessions WHERE id = ?1")
X(DELETE_EMPTY_SESSION, "DELETE FROM sessions WHERE id = ?1 AND cells = 0"
    " AND NOT EXISTS (SELECT 1 FROM programs WHERE session = ?1)")

X(ADD_CELL, "INSERT INTO cells(session, number, source, submitted_us, status, generation, previous,"
    " how, origin, first_line) VALUES(?1, ?2, ?3, ?4, 'running', ?5, ?6, ?7, ?8, ?9)")
X(SETTLE_CELL, "UPDATE cells SET status = ?2, exit_code = ?3, output = ?4, spill_path = ?5, started_us = ?6,"
    " duration_us = ?7, generation = ?8, execution_count = ?9, previous = ?10 WHERE id = ?1")
X(DELETE_CELLS, "DELETE FROM cells WHERE session = ?1")
X(TEXTS_OF_SESSION, "SELECT id, source, output FROM cells WHERE session = ?1")
X(ALL_TEXTS, "SELECT id, source, output FROM cells")
X(SPILLS, "SELECT spill_path FROM cells WHERE spill_path IS NOT NULL AND (?1 = 0 OR session = ?1)")

X(FIRST_OF_SESSION, "SELECT id FROM cells WHERE session = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2")
X(FIRST_OF_ALL, "SELECT id FROM cells ORDER BY id DESC LIMIT 1 OFFSET ?1")
X(IDS_OF_SESSION, "SELECT id FROM cells WHERE session = ?1 AND id >= ?2 ORDER BY id LIMIT ?3")
X(READ_SOURCES, "SELECT cells.id, sessions.name, number, source, submitted_us FROM cells"
    " JOIN sessions ON sessions.id = cells.session WHERE cells.id >= ?1 ORDER BY cells.id LIMIT ?2")
X(READ_CELL, "SELECT cells.id, sessions.name, number, source, status, exit_code, output, spill_path, submitted_us,"
    " started_us, duration_us, generation, execution_count, previous, how, origin, first_line"
    " FROM cells JOIN sessions ON sessions.id = cells.session WHERE cells.id = ?1")

/* Newest first, below an id. ?1 what is looked for, ?2 the id, ?3 how many, ?4 the session. */
X(SEARCH, "SELECT rowid FROM (SELECT rowid FROM source_index WHERE source_index MATCH ?1 AND rowid < ?2"
    " ORDER BY rowid DESC LIMIT ?3)"
    " UNION SELECT rowid FROM (SELECT rowid FROM output_index WHERE output_index MATCH ?1 AND rowid < ?2"
    " ORDER BY rowid DESC LIMIT ?3) ORDER BY rowid DESC LIMIT ?3")
X(SEARCH_SESSION, "SELECT rowid FROM (SELECT rowid FROM source_index WHERE source_index MATCH ?1 AND rowid < ?2"
    " AND EXISTS (SELECT 1 FROM cells INDEXED BY cells_of_session WHERE session = ?4 AND id = source_index.rowid)"
    " ORDER BY rowid DESC LIMIT ?3)"
    " UNION SELECT rowid FROM (SELECT rowid FROM output_index WHERE output_index MATCH ?1 AND rowid < ?2"
    " AND EXISTS (SELECT 1 FROM cells INDEXED BY cells_of_session WHERE session = ?4 AND id = output_index.rowid)"
    " ORDER BY rowid DESC LIMIT ?3) ORDER BY rowid DESC LIMIT ?3")
X(SCAN, "SELECT id FROM cells WHERE id < ?2 AND (source LIKE ?1 ESCAPE '\\' OR output LIKE ?1 ESCAPE '\\')"
    " ORDER BY id DESC LIMIT ?3")
X(SCAN_SESSION, "SELECT id FROM cells WHERE session = ?4 AND id < ?2"
    " AND (source LIKE ?1 ESCAPE '\\' OR output LIKE ?1 ESCAPE '\\') ORDER BY id DESC LIMIT ?3")

X(INDEX_SOURCE, "INSERT INTO source_index(rowid, text) VALUES(?1, ?2)")
X(INDEX_OUTPUT, "INSERT INTO output_index(rowid, text) VALUES(?1, ?2)")
X(UNINDEX_SOURCE, "INSERT INTO source_index(source_index, rowid, text) VALUES('delete', ?1, ?2)")
X(UNINDEX_OUTPUT, "INSERT INTO output_index(output_index, rowid, text) VALUES('delete', ?1, ?2)")

X(ADD_PROGRAM, "INSERT OR IGNORE INTO programs(session, pid, started, host) VALUES(?1, ?2, ?3, ?4)")
X(LIST_PROGRAMS, "SELECT session, pid, started, host FROM programs")
X(DELETE_PROGRAM, "DELETE FROM programs WHERE session = ?1 AND pid = ?2 AND started = ?3 AND host = ?4")
X(DELETE_PROGRAMS_OF_SESSION, "DELETE FROM programs WHERE session = ?1")
/* clang-format on */
