package causeway.client;

import com.fasterxml.jackson.databind.JavaType;
import causeway.client.model.DeletedRecord;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** Reads and writes the records of one object of the instance. */
public final class Records<T> {
  private final Causeway causeway;
  private final String objectName;
  private final JavaType type;

  Records(Causeway causeway, String objectName, JavaType type) {
    this.causeway = causeway;
    this.objectName = objectName;
    this.type = type;
  }

  /** Lists all records. */
  public Listing<T> list() {
    return list(query -> {});
  }

  /** Lists the records of a query: {@code list(query -> query.where("priority = ?", 1).orderBy("number"))}. */
  public Listing<T> list(Consumer<RecordQuery> query) {
    return listing(query, onObject("GET", ""));
  }

  /** Lists the records of a child object below a record. */
  public Listing<T> children(String id, String childObjectName, Consumer<RecordQuery> query) {
    return listing(query, onRecord("GET", id, "/{childObjectName}").path("childObjectName", childObjectName));
  }

  /**
   * Returns a record.
   * @throws NotFoundException when there is no such record
   */
  public T get(String id) {
    return one(onRecord("GET", id, ""));
  }

  /**
   * Creates a record.
   * @param record a map, or a value that Jackson writes as the fields @return the record as stored
   */
  public T create(Object record) {
    return one(onObject("POST", "").body(record));
  }

  /** Changes the given fields. @return the record as stored */
  public T update(String id, Object changes) {
    return one(onRecord("PATCH", id, "").body(changes));
  }

  /** Replaces the record by the given one. @return the record as stored */
  public T replace(String id, Object record) {
    return one(onRecord("PUT", id, "").body(record));
  }

  /** Creates a record that is a file. @return the record as stored */
  public T createFile(Object fields, Path file) {
    return one(onObject("POST", "").form("metadata", fields).form("file", file));
  }

  /** Stores a new version of a record's file. @return the record as stored */
  public T replaceFile(String id, Object fields, Path file) {
    return one(onRecord("PUT", id, "").form("metadata", fields).form("file", file));
  }

  /** Returns the file of a record in one of its media types, such as {@code application/pdf}. The caller must close the stream. */
  public InputStream file(String id, String mediaType) {
    return onRecord("GET", id, "").header("Accept", mediaType).stream();
  }

  public DeletedRecord delete(String id) {
    return onRecord("DELETE", id, "").answer(DeletedRecord.class);
  }

  private Listing<T> listing(Consumer<RecordQuery> query, Call call) {
    query.accept(new RecordQuery(call));
    return call.listing(Json.MAPPER.getTypeFactory().constructCollectionType(List.class, type));
  }

  private T one(Call call) {
    return call.answer(type);
  }

  private Call onObject(String method, String path) {
    return causeway.call(method, "/{objectName}" + path).security("UserElement").path("objectName", objectName);
  }

  private Call onRecord(String method, String id, String path) {
    return onObject(method, "/{objectId}" + path).path("objectId", id);
  }
}
